package ci

import (
	"regexp"
	"sync"
	"time"
)

// buildkiteGroup begins a group of a Buildkite job's log. The next one ends it, whoever begins it.
func buildkiteGroup(title string, open bool, _ time.Time) (before, after string) {
	if open {
		return "+++ " + title + "\n", ""
	}
	return "--- " + title + "\n", ""
}

// buildkiteHeading finds the signs that begin a group, open, folded or faint, and those that open the last one.
var buildkiteHeading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-)(--)|^(\+)(\+\+)|^(~)(~~)|^(\^)(\^\^)`) })

// buildkiteLine returns a line of log that is no group's heading: a backslash goes between the signs, so that a person
// still sees what was there.
func buildkiteLine(line string) string {
	return buildkiteHeading().ReplaceAllString(line, `$1$3$5$7\$2$4$6$8`)
}
