package oracle

import "testing"

func TestFairness(t *testing.T) {
	eachStudy(t, drawFairness)
}
