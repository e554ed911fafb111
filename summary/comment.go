package summary

import (
	"io"

	"github.com/oloproof/oloproof/engine/report"
)

// CommentOptions is what a comment on a pull request, or an issue, says beyond its report.
type CommentOptions struct {
	MaxBytes int           // 0: 60,000
	FailOn   report.FailOn // the verdicts that make the step fail
	// Run is the run in a few words of ours, such as "run 812, attempt 1, commit 0a1b2c3", and RunURL its page, "" for none.
	Run, RunURL string
	// FileURL returns the page of a line of a file of the repository, "" where there is none. It may be nil.
	FileURL func(file string, line int) string
	// Previous is what the comment said that this one takes the place of; nil where there was none.
	Previous *Previous
}

// Previous is what an earlier comment said, as far as it is remembered.
type Previous struct {
	Run     string         // such as "run 811"
	Verdict report.Verdict // NoVerdict also where nothing was decided
	Failing []string       // ids of counting rules that had not passed, some of them where there were many
}

// Comment writes the report as the body of a pull request's comment.
func Comment(w io.Writer, r *report.Report, opts CommentOptions) error {
	return Markdown(w, r, Options{Unicode: true, MaxBytes: opts.MaxBytes, FailOn: opts.FailOn})
}
