// Package oracle gives a second opinion on every gate: what a study must come to is worked out again, from the
// documents alone, in another way than the engine's, and held against what the program prints. Only its tests use it.
//
// # What the harness offers
//
// An oracle writes two things for a seed: the study's files and command line, and the [Report] that must come out.
//
//   - [Study] holds both; [Study.Check] writes the files to a folder, runs the program with --json, decodes what it
//     prints and lists every difference from [Study.Want]. It also holds the program's verdicts against the bounds that
//     it printed itself, and the run's verdict, counts and exit status against its rules'.
//   - [Report], [Gate], [Measure], [Rule], [Cell], [Pair] are the report's JSON, decoded by this package's own structs.
//     What is nil or empty in the oracle's must be absent in the program's. Rule.Close says that a threshold lies within
//     [Tolerance] of a bound that decides the verdict: only then may the verdict differ, and it is counted.
//   - [Gate.Exact] names the codes of findings that the oracle decides: of these, exactly those in Gate.Findings must be there.
//   - [Tally] counts what occurred: verdicts, reasons, close calls. Its String lists them.
//   - eachStudy (in the tests) runs an oracle over its seeds, 1 to N. OLOPROOF_STUDIES sets N; it is 150 a gate, 30 with
//     -short, and 20,000 under OLOPROOF_NIGHTLY=1. OLOPROOF_STUDY=123 runs only the study of seed 123 and prints its files.
//   - means.go has the intervals of bounded means, exact.go those of counts.
//
// # How it is made
//
// Each oracle follows the definitions word by word, row by row, with maps and nested loops, where the engine counts in
// one pass. Shares and their sums are exact fractions. Bounds come from other formulas than the engine's: see means.go and
// exact.go. A study is drawn from its seed alone, so a study that fails once fails always.
package oracle
