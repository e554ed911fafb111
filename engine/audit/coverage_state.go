package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// stateSchema names the form of a saved state. It is read by the version that wrote it alone.
const stateSchema = "oloproof-coverage-state/1"

// State is what of a grid was simulated: the cells that are finished. A run goes on from it and comes to the same bytes as one
// that was never interrupted.
type State struct {
	Schema string   `json:"schema"`
	Of     string   `json:"of"`     // the digest of the grid, the seed and the version
	Done   []counts `json:"done"`   // in the order in which they were finished
	Digest string   `json:"sha256"` // of Done, so that a damaged file is found
}

// NewState is that of a run which begins.
func NewState(g Grid, about About) *State { return &State{Schema: stateSchema, Of: g.digest(about)} }

// digest says of which run a state is: of which version, seed and grid.
func (g Grid) digest(about About) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %s\n", about.Version, about.Seed, about.Grid())
	for _, c := range g.Cells {
		fmt.Fprintf(h, "%q %d %#v\n", c.Name, c.Studies, c.Model)
		for _, t := range c.Targets {
			fmt.Fprintf(h, "%q %q %v %q %v %v\n", t.Name, t.Rule, t.AtMost, t.Truth, t.Scale, t.EndsOnly)
		}
		for _, r := range c.Rivals {
			fmt.Fprintf(h, "%q %q\n", r.Name, r.Target)
		}
	}
	for _, c := range g.Counterexamples {
		fmt.Fprintf(h, "%q %d\n", c.Name, c.Studies)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digestDone is the digest of what is finished.
func (s *State) digestDone() (string, error) {
	text, err := json.Marshal(s.Done)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// JSON is the saved form.
func (s *State) JSON() ([]byte, error) {
	var err error
	if s.Digest, err = s.digestDone(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	return append(text, '\n'), err
}

// ReadState reads a saved state of the same grid, seed and version. The error says what else it is.
func ReadState(text []byte, g Grid, about About) (*State, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	s := &State{}
	if err := d.Decode(s); err != nil || d.More() {
		return nil, errors.New("it is not a whole state of a coverage run: it is damaged, or another file")
	}
	if s.Schema != stateSchema {
		return nil, errors.New("it is not a state of a coverage run of this version")
	}
	if digest, err := s.digestDone(); err != nil || digest != s.Digest {
		return nil, errors.New("it is damaged: its content is not what was written")
	}
	if s.Of != g.digest(about) {
		return nil, errors.New("it is of another run: of another grid, seed, choice of gates or version; give the same flags, or another file")
	}
	sizes := map[string][2]int{}
	for _, c := range g.Cells {
		sizes[c.Name] = [2]int{len(c.Targets), len(c.Rivals)}
	}
	for _, c := range g.Counterexamples {
		sizes[c.Name] = [2]int{}
	}
	for _, n := range s.Done {
		size, known := sizes[n.Name]
		if delete(sizes, n.Name); !known || size != [2]int{len(n.Targets), len(n.Rivals)} {
			return nil, errors.New("it is damaged: it has a cell that the grid does not have, or one twice")
		}
	}
	return s, nil
}

// Finished is how many cells and counterexamples the state holds.
func (s *State) Finished() int { return len(s.Done) }

// find looks a cell or counterexample up.
func (s *State) find(name string) (*counts, bool) {
	for i := range s.Done {
		if s.Done[i].Name == name {
			return &s.Done[i], true
		}
	}
	return nil, false
}
