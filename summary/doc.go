// Package summary turns a report into the forms that people and machines read: one file per format,
// listed in formats.go.
//
//	report.Report ── words.go, groups.go, number.go, draw.go, hide.go ──▶ a format (terminal.go, markdown.go, html.go, json.go) ── escape.go ──▶ bytes
//	                        └── told.go: each rule in sentences ──▶ a format for machines (junit.go, sarif.go, …) ──┘
//
// A format decides nothing. It prints what the report says and never compares an interval with a
// threshold to come to a verdict; the only such comparisons here keep a printed or drawn end on the side
// of the threshold on which it lies. Every text in a report may come from data and is hostile until it
// has passed through the escape of its sink.
package summary
