package oracle

import "testing"

func TestAnchoring(t *testing.T) {
	eachStudy(t, drawAnchoring)
}
