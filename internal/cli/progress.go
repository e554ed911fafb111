package cli

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
)

// patience is how long a run may stay silent on a terminal.
const patience = 2 * time.Second

// In a log, what a run is at is said once it takes long, and then now and then: a line each time, which stays.
const (
	patienceInLog = 10 * time.Second
	pauseInLog    = time.Minute
)

// meter says on standard error how far a run is.
type meter struct {
	inputs  int          // how many lists of files are read in all
	begun   atomic.Int64 // how many of them were begun
	reading atomic.Pointer[rows.Progress]

	// Of the one goroutine that shows it: what it saw last, since when, and when it looked last.
	seen          *rows.Progress
	passes        int
	since, before time.Time
}

// progress shows how far a run is that takes longer than patience; with quiet it shows nothing. The returned function ends it.
func (a *app) progress(parts []part, quiet bool) (m *meter, stop func()) {
	m = &meter{since: a.Now()}
	m.before = m.since
	for _, p := range parts {
		if len(p.tallies) == 0 {
			m.inputs += len(p.question.Inputs())
		}
	}
	if quiet {
		return m, func() {}
	}
	return m, a.showing(pace{patienceInLog, pauseInLog}, func(columns int) string { return m.line(a.Now(), columns) })
}

// next is told that another list of files is about to be read, and returns what is to hear how far that is.
func (m *meter) next() *rows.Progress {
	m.begun.Add(1)
	p := &rows.Progress{}
	m.reading.Store(p)
	return p
}

// decide is told that everything has been read.
func (m *meter) decide() { m.reading.Store(nil) }

// line is what the run is at. On a terminal with so many columns it fits into one less; 0 is for a log, where it is as long as it is.
func (m *meter) line(now time.Time, columns int) string {
	p := m.reading.Load()
	passes := 0
	if p != nil {
		passes = p.Passes()
	}
	if p != m.seen || passes != m.passes { // which began after the last look
		m.seen, m.passes, m.since = p, passes, m.before
	}
	m.before = now
	if p == nil {
		return fit(columns, fmt.Sprintf("oloproof: deciding, %.0f s", now.Sub(m.since).Seconds()))
	}
	what := "reading"
	if m.inputs > 1 {
		what += fmt.Sprintf(" %d of %d", m.begun.Load(), m.inputs)
	}
	if passes > 1 {
		what += " again"
	}
	read, total := p.Bytes()
	size, left := bytesText(read, read), ""
	if total > 0 {
		read = min(read, total) // of a file that grows
		size = bytesText(read, total) + " of " + bytesText(total, total) + unit(total).name
		if spent := now.Sub(m.since); read > 0 && spent >= time.Second {
			left = ", about " + roughly(spent.Seconds()*float64(total-read)/float64(read)) + " left"
		}
	} else {
		size += unit(read).name
	}
	count := ", " + gate.Thousands(p.Rows()) + " rows"
	if columns == 0 {
		return "oloproof: " + what + ", " + size + count + left
	}
	text := what + ", " + size + count + left
	bar := min(24, columns-1-len(text)-3) // with its brackets and the space behind it
	if total > 0 && bar >= 8 {
		filled := int(int64(bar) * read / total)
		return "[" + strings.Repeat("#", filled) + strings.Repeat(".", bar-filled) + "] " + text
	}
	return fit(columns, text, what+", "+size+left, size+left, size)
}

// roughly is a time in seconds, in a unit that leaves two digits.
func roughly(seconds float64) string {
	switch {
	case seconds < 90:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 90*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.0f h", seconds/3600)
}

// fit returns the first of texts that fits into a terminal's columns, where 0 is for a log; the last is cut.
func fit(columns int, texts ...string) string {
	for _, text := range texts {
		if columns == 0 || utf8.RuneCountInString(text) < columns {
			return text
		}
	}
	last := []rune(texts[len(texts)-1])
	return string(last[:min(len(last), max(columns-1, 0))])
}

// unit is what sizes like n are told in.
func unit(n int64) (u struct {
	name   string
	size   float64
	digits int
}) {
	u.name, u.size = " MB", 1e6
	if n >= 1e9 {
		u.name, u.size, u.digits = " GB", 1e9, 1
	}
	return u
}

// bytesText is n in the unit of like, which is not named.
func bytesText(n, like int64) string {
	u := unit(like)
	return fmt.Sprintf("%.*f", u.digits, float64(n)/u.size)
}

// pace is after how long a line is said in a log, and how long after it the next; where first is 0, none is.
type pace struct{ first, then time.Duration }

// showing shows what the program is doing: on a terminal, from patience on, in a line that changes; elsewhere, such as in a log, in lines
// at a pace. what is given the columns of the terminal, or 0. The returned function ends it and clears the terminal's line.
func (a *app) showing(inLog pace, what func(columns int) string) (stop func()) {
	if _, is := terminal(a.Stderr); is {
		return a.repeating(pace{patience, time.Second / 2}, "\r\x1b[K%s", "\r\x1b[K", func() string {
			columns, _ := terminal(a.Stderr) // which can change
			return what(max(columns, 1))
		})
	}
	if inLog.first <= 0 {
		return func() {}
	}
	return a.repeating(inLog, "%s\n", "", func() string { return what(0) })
}

// repeating writes a text at a pace, each time anew, until the returned function ends it and writes clear where there was one.
func (a *app) repeating(at pace, form, clear string, text func() string) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		timer := time.NewTimer(at.first)
		defer timer.Stop()
		for shown := false; ; shown = true {
			select {
			case <-done:
				if shown {
					fmt.Fprint(a.Stderr, clear)
				}
				return
			case <-timer.C:
				fmt.Fprintf(a.Stderr, form, text())
				timer.Reset(at.then)
			}
		}
	}()
	return func() { close(done); <-gone }
}
