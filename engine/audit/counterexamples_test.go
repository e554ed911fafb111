package audit

import (
	"context"
	"testing"
	"time"
)

func TestTmp(t *testing.T) {
	for _, c := range counterexamples() {
		t0 := time.Now()
		once, err := c.Start()
		if err != nil {
			t.Error(c.Name, err)
			continue
		}
		n, o := 0, 0
		for i := range c.Quick {
			a, b, err := once(Random("x", c.Name, i))
			if err != nil {
				t.Error(c.Name, err)
				break
			}
			if a {
				n++
			}
			if b {
				o++
			}
		}
		t.Log(c.Name, n, o, c.Quick, time.Since(t0)/time.Duration(c.Quick))
	}
	_ = context.Background
}
