package oracle

import "testing"

func TestCompare(t *testing.T) {
	t.Parallel()
	eachStudy(t, drawCompare)
}
