package audit

import (
	"context"
	"testing"
	"time"
)

func TestTmp(t *testing.T) {
	for _, c := range counterexamples() {
		t0 := time.Now()
		once, err := c.prepare()
		if err != nil {
			t.Error(c.name, err)
			continue
		}
		n, o := 0, 0
		for i := range c.quick {
			a, b, err := once(Random("x", c.name, i))
			if err != nil {
				t.Error(c.name, err)
				break
			}
			if a {
				n++
			}
			if b {
				o++
			}
		}
		t.Log(c.name, n, o, c.quick, time.Since(t0)/time.Duration(c.quick))
	}
	_ = context.Background
}
