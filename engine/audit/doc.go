// Package audit asks the gates about studies whose truth is known, to show what their verdicts are worth: how often an
// interval misses, how often a rule errs, how many units a rule needs, and whether it can fail at all.
//
// Nothing of the gates is done again here. A study is rows in memory; it goes through the same questions, tallies, intervals
// and verdicts as a file does:
//
//  1. study.go hands the rows of a study to fresh questions and returns what every rule comes to (Ask).
//  2. repeat.go does that many times over on all cores, each time with its own random source, so that the results are
//     the same whatever the number of cores.
//  3. share.go says how sure a simulated share is, and when it breaks a promise.
//  4. model.go says what can be drawn and known to be true; model_GATE.go draws the studies of each gate.
//  5. selftest.go asks a policy about a user's own rows, shuffled, drawn anew and with harm planted; selftest_GATE.go says how.
//  6. plan.go searches how large a study a rule needs; plan_GATE.go says what a size is for each gate, and what studies look like.
//
// The coverage grid is made of these: coverage.go says what a cell is, coverage_GATE.go has the cells of each gate, rivals.go the
// intervals that others use; coverage_run.go draws the studies of a cell and counts, coverage_state.go keeps the counts of an
// interrupted run, coverage_result.go holds them against what is promised, and coverage_words.go and coverage_markdown.go say it.
package audit
