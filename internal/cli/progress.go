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
	files := 0
	for _, p := range parts {
		for _, in := range p.question.Inputs() {
			files += len(in.Paths)
		}
	}
	return a.showing(0, func() string { return "reading and deciding " + countOf(files, "path") })
}

// showing shows on a terminal, every two seconds, what the program is doing; elsewhere, such as in a log, it says it in a line as often
// as inLog says, or never where that is 0. The returned function ends it and clears the terminal's line.
func (a *app) showing(inLog time.Duration, what func() string) (stop func()) {
	pause, form, clear := patience, "\r\x1b[Koloproof: %s, %d s …", "\r\x1b[K"
	if _, is := terminal(a.Stderr); !is {
		if inLog <= 0 {
			return func() {}
		}
		pause, form, clear = inLog, "oloproof: %s, %d s …\n", ""
	}
	done, gone := make(chan struct{}), make(chan struct{})
	started := a.Now()
	go func() {
		defer close(gone)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for shown := false; ; shown = true {
			select {
			case <-done:
				if shown {
					fmt.Fprint(a.Stderr, clear)
				}
				return
			case <-tick.C:
				fmt.Fprintf(a.Stderr, form, what(), int(a.Now().Sub(started).Seconds()))
			}
		}
	}()
	return func() { close(done); <-gone }
}
