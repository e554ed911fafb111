package oracle

import "testing"

func TestHumanAI(t *testing.T) {
	t.Parallel()
	eachStudy(t, drawHumanAI)
}
