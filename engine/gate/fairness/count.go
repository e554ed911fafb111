package fairness

import (
	"slices"
	"sync"

	"github.com/oloproof/oloproof/engine/rows"
)

// vocabulary gives the texts of a column codes: 0 where nothing is recorded, then those of known texts, then one for all others, or
// one for each of them.
type vocabulary struct {
	fixed int // how many codes known texts have
	room  int // how many other texts have a code of their own; 0: one code is for all
	lock  sync.Mutex
	texts []string // the others that have a code, in the order in which they came
}

// roomForTexts is how many different texts of a column, beside the declared ones, rows that are counted for a tally may have to be
// counted on all cores. With more they are counted one by one.
const roomForTexts = 64

// codes is how many codes there are.
func (v *vocabulary) codes() int { return 1 + v.fixed + max(1, v.room) }

// other is the code of a text that is not known; ok is false where there is none left.
func (v *vocabulary) other(text string) (code int, ok bool) {
	if v.room == 0 {
		return 1 + v.fixed, true
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	i := slices.Index(v.texts, text)
	if i < 0 {
		if len(v.texts) == v.room {
			return 0, false
		}
		i = len(v.texts)
		v.texts = append(v.texts, text)
	}
	return 1 + v.fixed + i, true
}

// text is an other text by its code; what stands for all of them where they share one is equal to no text of a file or a policy.
func (v *vocabulary) text(code int) string {
	if v.room == 0 {
		return "\xFF"
	}
	return v.texts[code-1-v.fixed]
}

// use is what is common to columns with a vocabulary. known is the place of a text among the known ones, −1 for one that is none.
func (v *vocabulary) use(told *values, known func(text string) (place int, ok bool)) rows.Use {
	use := rows.Use{Codes: v.codes(), Code: func(text string, recorded bool) (code int, tell, ok bool) {
		if !recorded {
			return 0, false, true
		}
		place, ok := known(text)
		if !ok {
			return 0, false, false
		}
		if place >= 0 {
			return 1 + place, false, true
		}
		code, ok = v.other(text)
		return code, v.room == 0, ok
	}}
	if v.room == 0 {
		use.Tell = told.add
	}
	return use
}

// Count is Add for all rows together: how they are to be counted, and what takes the counts. Rows that it says cannot be counted are for Add, and
// so are those of which anything has to be told.
func (t *Tally) Count() (uses []rows.Use, take func(*rows.Cube)) {
	room := 0
	if t.cells != nil {
		room = roomForTexts
	}
	uses = make([]rows.Use, len(t.columns))
	uses[0].Full = true
	outcome := func(b *binary) rows.Use {
		return rows.Use{Codes: 1 + max(none, no, yes), Code: func(text string, recorded bool) (code int, tell, ok bool) {
			if !recorded {
				return none, false, true
			}
			value, err := b.read(text)
			return value, false, err == nil
		}}
	}
	uses[t.at.label], uses[t.at.prediction] = outcome(&t.label), outcome(&t.prediction)
	if t.at.unit >= 0 {
		uses[t.at.unit].Full = true
	}
	if t.at.probability >= 0 {
		uses[t.at.probability] = rows.Use{Codes: len(t.edges) + 2, Code: func(_ string, recorded bool) (code int, tell, ok bool) { return 0, false, !recorded },
			Number: func(value rows.Decimal, rounded bool) (code int, ok bool) {
				// What was rounded to an end of the range may lie outside of it.
				inside := value.Sign() >= 0 && value.Cmp(one) <= 0 && !(rounded && (value.Sign() == 0 || value == one))
				return 1 + binOf(t.edges, value), inside
			}}
	}
	undeclared, sliced := make([]values, len(t.attributes)), make([]values, len(t.where))
	groups, texts := make([]vocabulary, len(t.attributes)), make([]vocabulary, len(t.where))
	for i := range t.attributes {
		a := &t.attributes[i]
		groups[i].fixed, groups[i].room, undeclared[i].most = len(a.groups), room, mostValues
		uses[t.at.attributes+i] = groups[i].use(&undeclared[i], func(text string) (int, bool) {
			group, declared, err := a.of(text)
			if !declared {
				group = -1
			}
			return group, err == nil
		})
	}
	named := t.named()
	for i := range t.where {
		texts[i].fixed, texts[i].room, sliced[i].most = len(named[i]), room, mostValues
		uses[t.at.where+i] = texts[i].use(&sliced[i], func(text string) (int, bool) { return slices.Index(named[i], text), true })
	}
	return uses, func(cube *rows.Cube) {
		for i := range undeclared {
			t.undeclared[i].merge(&undeclared[i])
		}
		for i := range sliced {
			t.sliced[i].merge(&sliced[i])
		}
		t.rounded += cube.Rounded()
		cube.Each(func(codes []int, n int, sum rows.Sum) {
			c := batch{label: codes[t.at.label], prediction: codes[t.at.prediction], bin: noBin, n: n}
			if at := t.at.probability; at >= 0 && codes[at] > 0 {
				c.bin, c.probabilities = codes[at]-1, sum
			}
			for i := range t.groups {
				switch code := codes[t.at.attributes+i]; {
				case code == 0:
					t.groups[i] = empty
				case code > groups[i].fixed:
					t.groups[i] = strange
				default:
					t.groups[i] = code - 1
				}
			}
			for i := range t.texts {
				switch code := codes[t.at.where+i]; {
				case code == 0:
					t.texts[i] = ""
				case code > texts[i].fixed:
					t.texts[i] = texts[i].text(code)
				default:
					t.texts[i] = named[i][code-1]
				}
			}
			if t.cells != nil {
				t.keep(c, func(attribute int) string { return groups[attribute].text(codes[t.at.attributes+attribute]) })
				return
			}
			for i, code := range codes[t.at.where:] {
				if code > 0 && code <= texts[i].fixed {
					t.sliced[i].add(t.texts[i], n)
				}
			}
			t.place(c)
		})
	}
}

// named lists, by column of where, the texts that rules slice by.
func (p *plan) named() [][]string {
	list := make([][]string, len(p.where))
	for _, v := range p.views {
		for _, term := range v.terms {
			if term.attribute < 0 && !slices.Contains(list[term.column], term.value) {
				list[term.column] = append(list[term.column], term.value)
			}
		}
	}
	return list
}

// once are the columns in which no two rows may have the same text; those of ids only where they are looked at.
func (p *plan) once(ids bool) []rows.Once {
	var list []rows.Once
	if ids {
		list = append(list, rows.Once{Columns: []int{0}, Same: p.sameID})
	}
	if p.at.unit >= 0 {
		list = append(list, rows.Once{Columns: []int{p.at.unit}, Same: p.sameUnit})
	}
	return list
}
