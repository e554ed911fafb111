package ci

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// turns lets several runs take turns at the hub, one request at a time, so that a test says in which order their requests
// take effect. Only one run goes on at any time.
type turns struct {
	h    *hub
	now  time.Duration
	runs []*racer
}

// racer is one of the runs. It stops before each step and tells when the step is to be.
type racer struct {
	turns   *turns
	n       int
	wake    time.Duration // when its next step is to be
	resume  chan struct{}
	stopped chan bool // true: it has ended
	ended   bool
	latency func() time.Duration // how long half of a request is under way; nil: the test says who is next
	out     Outcome
	steps   []step // the requests that took effect
}

// step is a request that took effect, the how manieth of all.
type step struct {
	method, place string
	at            int
}

func (r *racer) pause(d time.Duration) {
	r.wake = r.turns.now + d
	r.stopped <- false
	<-r.resume
}

// RoundTrip sends a request to the hub: half of its time lies before it takes effect, and half after.
func (r *racer) RoundTrip(request *http.Request) (*http.Response, error) {
	half := func() time.Duration {
		if r.latency == nil {
			return 0
		}
		return r.latency()
	}
	r.pause(half())
	answer, err := inProcess{r.turns.h}.RoundTrip(request)
	r.steps = append(r.steps, step{request.Method, request.URL.Path, len(r.turns.h.requests)})
	if r.latency != nil {
		r.pause(half())
	}
	return answer, err
}

// add adds a run that begins at some time.
func (t *turns) add(p Posting, begins time.Duration, latency func() time.Duration) {
	r := &racer{turns: t, n: p.Run.Number, wake: begins, resume: make(chan struct{}), stopped: make(chan bool), latency: latency}
	c, err := NewClient(ClientOptions{
		API: "https://api.example", Repository: "o/r", Token: hubToken, Version: "1.2.3", HTTP: &http.Client{Transport: r},
		Sleep: func(_ context.Context, d time.Duration) {
			if latency != nil {
				r.pause(d)
			}
		},
	})
	if err != nil {
		t.h.t.Fatal(err)
	}
	t.runs = append(t.runs, r)
	go func() {
		<-r.resume
		r.out = c.PostComment(context.Background(), 12, p)
		r.stopped <- true
	}()
}

// run goes on until every run has ended; next chooses among those that have not.
func (t *turns) run(next func(alive []*racer) *racer) {
	for {
		var alive []*racer
		for _, r := range t.runs {
			if !r.ended {
				alive = append(alive, r)
			}
		}
		if len(alive) == 0 {
			return
		}
		r := next(alive)
		t.now = max(t.now, r.wake)
		r.resume <- struct{}{}
		r.ended = <-r.stopped
	}
}

// earliest is the one whose step is to be first.
func earliest(alive []*racer) *racer {
	first := alive[0]
	for _, r := range alive {
		if r.wake < first.wake {
			first = r
		}
	}
	return first
}

// standing is the number of the run whose comment is left, and how many are.
func (h *hub) standing() (run, comments int) {
	for _, e := range h.ours() {
		if s, ok := readMarker("comment", e.Body); ok {
			run = s.number
			comments++
		}
	}
	return run, comments
}

// TestEveryInterleavingOfTwoRuns goes through every order in which the requests of two runs can take effect, whatever the
// times between them: one comment is left, and it is the newer run's unless the older one paused between its last reading and
// its writing for as long as the newer one took to write and look again, which no client can see.
func TestEveryInterleavingOfTwoRuns(t *testing.T) {
	for _, before := range []bool{false, true} {
		orders, exceptions := 0, 0
		// choices says at each point where both runs could go on which one does; beyond its end the first one.
		for choices := []int{}; choices != nil; {
			h := newHub(t)
			if before {
				h.comment(jobToken, marked("comment", ofRun(1)))
			}
			race := &turns{h: h}
			race.add(ofRun(2), 0, nil)
			race.add(ofRun(3), 0, nil)
			point := 0
			race.run(func(alive []*racer) *racer {
				if len(alive) == 1 {
					return alive[0]
				}
				if point == len(choices) {
					choices = append(choices, 0)
				}
				point++
				return alive[choices[point-1]]
			})
			orders++
			if left, n := h.standing(); n != 1 || left != 3 {
				exceptions++
				if n != 1 || left != 2 || !pausedTooLong(race.runs[0], race.runs[1]) {
					t.Fatalf("with a comment before %v, order %v: %d comments, run %d stands\n%v\n%v", before, choices, n, left, race.runs[0].steps, race.runs[1].steps)
				}
			}
			for _, r := range race.runs {
				if len(r.out.Problems) > 0 {
					t.Fatalf("run %d: %q", r.n, r.out.Problems)
				}
			}
			for len(choices) > 0 && choices[len(choices)-1] == 1 { // the next order
				choices = choices[:len(choices)-1]
			}
			if len(choices) == 0 {
				break
			}
			choices[len(choices)-1] = 1
		}
		t.Logf("a comment before: %v; %d orders, in %d of them an older run paused for too long", before, orders, exceptions)
		if orders < 50 {
			t.Errorf("only %d orders", orders)
		}
	}
}

// pausedTooLong reports whether the older run's last writing rests on a reading from before the newer run's last writing, and
// came after the newer run had looked for the last time.
func pausedTooLong(older, newer *racer) bool {
	var read, wrote int
	for i, s := range older.steps {
		if s.method == http.MethodPatch {
			read, wrote = older.steps[i-1].at, s.at
		}
	}
	var newWrote int
	for _, s := range newer.steps {
		if s.method == http.MethodPatch || s.method == http.MethodPost {
			newWrote = s.at
		}
	}
	return read < newWrote && newer.steps[len(newer.steps)-1].at < wrote
}

// drawn draws how long the halves of requests take: their number is fixed, so that rapid can make a counterexample small.
func drawn(t *rapid.T, name string, most int) func() time.Duration {
	list := rapid.SliceOfN(rapid.IntRange(0, most), 1, 40).Draw(t, name)
	i := 0
	return func() time.Duration {
		i++
		return time.Duration(list[i%len(list)]) * time.Millisecond
	}
}

// TestTheNewestRunStands lets up to five runs, reruns among them, begin at any time, with every half of a request taking less
// than half of settlePause: then no run takes as long as that from a reading to its writing, and exactly one comment is left,
// the newest run's.
func TestTheNewestRunStands(t *testing.T) {
	race(t, int(settlePause/time.Millisecond)/2-1, true)
}

// TestOneCommentIsLeft is the same with requests of any length. Which run's comment is left cannot be said then, but it is
// one.
func TestOneCommentIsLeft(t *testing.T) {
	race(t, 5000, false)
}

func race(t *testing.T, latency int, newest bool) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHub(t)
		for range rapid.IntRange(0, 2).Draw(rt, "comments of others") {
			h.comment(stranger, "LGTM")
		}
		if rapid.Bool().Draw(rt, "a comment before") {
			h.comment(jobToken, marked("comment", ofRun(1)))
		}
		runs := rapid.IntRange(2, 5).Draw(rt, "runs")
		all := &turns{h: h}
		for i := range runs {
			p := ofRun(2 + i/2) // two attempts of each
			p.Run.Attempt = 1 + i%2
			p.Subject += fmt.Sprint(" attempt ", p.Run.Attempt)
			begins := time.Duration(rapid.IntRange(0, 4000).Draw(rt, fmt.Sprint("begin of ", i))) * time.Millisecond
			all.add(p, begins, drawn(rt, fmt.Sprint("latencies of ", i), latency))
		}
		all.run(earliest)
		list := h.ours()
		if len(list) != 1 {
			rt.Fatalf("%d comments are left", len(list))
		}
		s, _ := readMarker("comment", list[0].Body)
		if last := runs - 1; newest && (s.number != 2+last/2 || s.attempt != 1+last%2) {
			rt.Fatalf("run %d, attempt %d stands", s.number, s.attempt)
		}
		if !strings.Contains(list[0].Body, fmt.Sprintf("This is run %d.", s.number)) {
			rt.Fatalf("the mark is of run %d, the text is not: %q", s.number, list[0].Body)
		}
		for _, r := range all.runs {
			if len(r.out.Problems) > 0 {
				rt.Fatalf("run %d: %q", r.n, r.out.Problems)
			}
		}
	})
}
