package summary

import (
	"bytes"
	"io"

	"github.com/oloproof/oloproof/engine/report"
)

// JSON writes the published form of the report (report.JSON). What a CI runner would execute in a line of
// log, such as "##[error]" in a group's name, is written with a JSON escape: the document says the same.
func JSON(w io.Writer, r *report.Report, _ Options) error {
	doc, err := r.JSON()
	if err != nil {
		return err
	}
	// Two "#" on a line stand in a text, and so does a bracket beside them: what holds arrays has names of ours.
	for line := range bytes.Lines(doc) {
		if bytes.Count(line, []byte("#")) > 1 {
			line = bytes.ReplaceAll(line, []byte("["), []byte(`\u005b`))
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
