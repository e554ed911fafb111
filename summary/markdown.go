package summary
import ("io";"github.com/oloproof/oloproof/engine/report")
func Markdown(w io.Writer, r *report.Report, opts Options) error { return nil }
