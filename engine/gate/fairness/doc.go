// Package fairness decides how far apart groups are in their error rates, their selection and how well they are served,
// from recorded decisions about cases whose groups were declared beforehand.
//
// The steps, in order, one file each:
//
//  1. declare.go reads what is known before the files are: the columns, the groups, the crossings.
//  2. tally.go counts the cases by group, label and prediction, checked for what a row alone or two rows can show to be
//     wrong. Tallies merge: any split of the rows, in any order, gives the same report.
//  3. rates.go says which cases each rate counts, out of which, and what a missing prediction can turn out to be.
//  4. measures.go measures every rate of every group, calibration.go how far probabilities are from outcomes.
//  5. contest.go sets the groups of a rule side by side: their intervals, the gaps or ratios of every two, the verdict.
//  6. findings.go points at what a person would want to know of the data.
//  7. rules.go compiles a policy and decides its rules; needs.go says what would decide an undecided one, text.go words it.
//
// In place of 2, part.go writes what was counted as a part and reads parts; query.go has a database count, and reads its result.
//
// Cases are the units. The interval of each group has the error of the rule divided by the number of its declared groups,
// so that all of them hold at once, and with them every gap and ratio of two groups. A missing prediction stays in its
// group and is completed both ways. A case that does not say which group it belongs to is left out of the rules that need
// to know, and counted; so is one without a label, of the rules on labels. For a decided rule the report says whether the
// verdict would survive all of them at their worst.
package fairness
