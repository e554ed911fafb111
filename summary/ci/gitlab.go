package ci

import (
	"fmt"
	"time"
)

// gitLabGroup makes lines of a GitLab job's log one section that can be folded. GitLab finds a section's marks anywhere
// in the log, by a carriage return and an escape character that no Log lets through from data. A section needs a name
// of its own in the job, so the time is in it.
func gitLabGroup(title string, open bool, at time.Time) (before, after string) {
	name, options := fmt.Sprintf("oloproof_%d", at.UnixNano()), ""
	if !open {
		options = "[collapsed=true]"
	}
	return fmt.Sprintf("\x1b[0Ksection_start:%d:%s%s\r\x1b[0K%s\n", at.Unix(), name, options, title),
		fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K\n", at.Unix(), name)
}
