package cli

import (
	"fmt"
	"time"
)

// patience is how long a run may stay silent.
const patience = 2 * time.Second

// progress says on a terminal what a run that takes longer than two seconds is doing. The returned function
// ends it and clears its line.
func (a *app) progress(parts []part) (stop func()) {
	if _, is := terminal(a.Stderr); !is {
		return func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	files := 0
	for _, p := range parts {
		for _, in := range p.question.Inputs() {
			files += len(in.Paths)
		}
	}
	started := a.Now()
	go func() {
		defer close(gone)
		tick := time.NewTicker(patience)
		defer tick.Stop()
		for shown := false; ; shown = true {
			select {
			case <-done:
				if shown {
					fmt.Fprint(a.Stderr, "\r\x1b[K")
				}
				return
			case <-tick.C:
				fmt.Fprintf(a.Stderr, "\r\x1b[Koloproof: reading and deciding %s, %d s …", countOf(files, "path"), int(a.Now().Sub(started).Seconds()))
			}
		}
	}()
	return func() { close(done); <-gone }
}
