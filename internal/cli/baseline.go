package cli

import (
	"fmt"
	"io/fs"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// baseline is an earlier report that a run is compared with.
type baseline struct {
	report *report.Report
	file   report.File
}

// loadReport reads a JSON report that an earlier run wrote, of at most so many bytes.
func (a *app) loadReport(fsys fs.FS, path string, most int64) (*report.Report, []byte, error) {
	a.opened = append(a.opened, path)
	data, err := readFile(fsys, path, most+1)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %s", diag.Printable(path), reason(err))
	}
	if int64(len(data)) > most {
		return nil, nil, fmt.Errorf("%s: it is larger than %d MiB", diag.Printable(path), most>>20)
	}
	r, err := report.Parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", diag.Printable(path), err)
	}
	return r, data, nil
}

// loadBaseline reads the report that a run is to be compared with; nil where none is named.
func (a *app) loadBaseline(fsys fs.FS, path string) (*baseline, error) {
	if path == "" {
		return nil, nil
	}
	r, data, err := a.loadReport(fsys, path, report.MaxBytes)
	if err != nil {
		return nil, err
	}
	if err := report.UsableBaseline(r); err != nil {
		return nil, fmt.Errorf("%s: %w", diag.Printable(path), err)
	}
	return &baseline{r, report.File{Path: path, SHA256: digestOf(data)}}, nil
}

// compare tells in a report how its rules have changed since the baseline. A run that decided nothing has no rules.
func (b *baseline) compare(r *report.Report) {
	if b != nil && r.ExitStatus != report.ExitUnusable {
		r.CompareWith(b.report, b.file)
	}
}
