package humanai

// The designs of a study; the words of the policy and the report.
const (
	crossed     = "crossed"      // each person decides each of their cases once
	beforeAfter = "before_after" // each person decides each case without, then with
	sparse      = "sparse"       // cases decided once in each condition, by different people: described, never decided
	mixed       = "mixed"        // some cases once, some twice: not decided until the design is declared
)

// Designs are those that a policy may declare.
var Designs = []string{crossed, beforeAfter}

// pair is a person and a case.
type pair struct{ person, item string }

// detect tells the design from the decisions' keys, by the tests of the specification in their order:
// every (person, case) twice is before_after; some twice is mixed; each case in both conditions with
// more than half of the occurring (case, condition) pairs holding a single row is sparse; else crossed.
func detect(keys []key) string {
	rowsOf := map[pair]int{}
	conditions := map[string]map[condition]int{} // case → condition → rows
	for _, k := range keys {
		rowsOf[pair{k.person, k.item}]++
		if conditions[k.item] == nil {
			conditions[k.item] = map[condition]int{}
		}
		conditions[k.item][k.condition]++
	}
	twice := 0
	for _, n := range rowsOf {
		if n == 2 {
			twice++
		}
	}
	switch twice {
	case 0:
	case len(rowsOf):
		return beforeAfter
	default:
		return mixed
	}
	occurring, single := cells(conditions)
	if 2*single <= occurring {
		return crossed
	}
	for _, c := range conditions {
		if len(c) < 2 {
			return crossed
		}
	}
	return sparse
}

// cells counts the (case, condition) pairs that occur, and those that hold a single row.
func cells(conditions map[string]map[condition]int) (occurring, single int) {
	for _, c := range conditions {
		for _, n := range c {
			occurring++
			if n == 1 {
				single++
			}
		}
	}
	return occurring, single
}

// nearlySparse reports a crossed file in which most (case, condition) pairs hold a single row: one case more
// in both conditions, and it would be sparse.
func nearlySparse(keys []key) bool {
	conditions := map[string]map[condition]int{}
	for _, k := range keys {
		if conditions[k.item] == nil {
			conditions[k.item] = map[condition]int{}
		}
		conditions[k.item][k.condition]++
	}
	occurring, single := cells(conditions)
	return 2*single > occurring
}

// design is what is known of a study's design.
type design struct {
	name         string // the one the study is decided under
	declared     bool   // by the policy, the command line or an assignment
	contradicted bool   // the file does not follow the declaration
}

// designOf settles the design: a sparse file or assignment is sparse whatever is declared; else the declared
// design counts, then the assignment's own, then the file's. A declaration contradicts an assignment of another
// design, and so does crossed a mixed one, whose pairs it would take for one decision each and not hold to their order;
// without an assignment, it contradicts a file whose rows it excludes.
func designOf(keys, assigned []key, declared string) design {
	found, given := detect(keys), ""
	contradicted := false
	switch {
	case assigned != nil:
		given = detect(assigned)
		contradicted = declared != "" && given != sparse && given != declared && (given != mixed || declared == crossed)
	case declared == crossed:
		contradicted = anyTwice(keys)
	case declared == beforeAfter:
		contradicted = bothConditions(keys) && !anyTwice(keys)
	}
	switch {
	case found == sparse || given == sparse:
		return design{name: sparse, declared: declared != "", contradicted: contradicted}
	case declared != "":
		return design{name: declared, declared: true, contradicted: contradicted}
	case assigned != nil:
		return design{name: given, declared: given != mixed}
	}
	return design{name: found}
}

// anyTwice reports whether some person decided some case in both conditions.
func anyTwice(keys []key) bool {
	seen := map[pair]bool{}
	for _, k := range keys {
		p := pair{k.person, k.item}
		if seen[p] {
			return true
		}
		seen[p] = true
	}
	return false
}

// bothConditions reports whether both conditions occur.
func bothConditions(keys []key) bool {
	var seen [2]bool
	for _, k := range keys {
		seen[k.condition] = true
	}
	return seen[with] && seen[without]
}
