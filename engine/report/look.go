package report

// Ledger is the file that a run's looks at the data are written to, as the run found it.
type Ledger struct {
	Path     string `json:"path"`             // as given
	SHA256   string `json:"sha256,omitempty"` // of its bytes before the run, in hexadecimal; "" where it was not there
	Looks    int    `json:"looks"`            // how many it held before the run
	Appended bool   `json:"appended"`         // whether the run adds its own
}

// Look is what the ledger says of a rule: which look at its data this is, and what that does to its error.
type Look struct {
	Number int        `json:"number"` // from 1; a rerun on data that were looked at already has the number of the last look
	Change LookChange `json:"change"` // since the look before
	// Of an interval for many looks: how often the data changed from growing by units to growing by decisions, or back.
	Switches int `json:"switches,omitempty"`
	// The number of the first look at which the data had changed in a way that the interval does not hold over; 0 for none.
	BrokenAt int `json:"broken_at,omitempty"`
	// The largest probability with which a verdict of any of the looks is wrong; 0 where none is known: where BrokenAt is not 0, and
	// where a look after the first was by an interval for one look.
	ErrorAtMost float64 `json:"error_at_most,omitempty"`
}

// LookChange is how a rule's data differ from those of the look before.
type LookChange string

// The changes. An interval for many looks holds over all but LookBroken.
const (
	LookFirst         LookChange = "first"          // there is no look before
	LookOther         LookChange = "other_question" // the rule measured something else in the look before, whose looks are not counted
	LookNone          LookChange = "none"           // a rerun: the same data were asked the same already
	LookAsked         LookChange = "asked_anew"     // the same data, which were asked at another threshold or confidence, or by another interval
	LookRecorded      LookChange = "recorded"       // what was missing is recorded, and nothing else has changed
	LookUnitsAdded    LookChange = "units_added"    // units are added; the value of each earlier one is as it was, or sharper
	LookMoreDecisions LookChange = "more_decisions" // the same number of units, and more is recorded of them
	LookChanged       LookChange = "changed"        // anything else, of an interval for one look, which does not hold over looks in any case
	LookBroken        LookChange = "broken"         // anything else, or a growth over which the interval does not hold
)

// LookChanges lists the changes.
var LookChanges = []LookChange{LookFirst, LookOther, LookNone, LookAsked, LookRecorded, LookUnitsAdded, LookMoreDecisions, LookChanged, LookBroken}
