package summary

import (
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
	_, err = w.Write(report.SafeInLogs(doc))
	return err
}
