// Package compare decides whether a new version of an agent is better than an old one, when every trial differs,
// from recorded trials of the same cases.
//
// The steps, in order, one file each:
//
//  1. tally.go counts the trials of each case in each version, checked for what a row alone or two rows can
//     show to be wrong. Tallies merge: any split of the rows gives the same tally, so every core fills one of its
//     own. That no trial has two rows is seen as they are read (rows.Once).
//  2. pair.go lists the cases of two versions side by side: a trial that the other version or the plan has and
//     this one lacks is a missing trial, and so are all trials of a case that one version lacks.
//  3. measures.go measures each version (rate, pass_at_k, pass_all_k) and their difference, with intervals.
//  4. signs.go counts better and worse cases, and how many missing trials would change what they show.
//  5. findings.go points at what a person would want to know of the data.
//  6. rules.go compiles a policy and decides its rules on the measures.
//
// In place of 1, part.go writes what was counted as a part and reads parts; query.go has a database count, and
// reads its result.
//
// Cases are the units: trials of one case are alike, so taking all trials as independent would make an
// interval too narrow. Only on a fixed list of cases, where the trials are the one thing that chance enters
// by, are they the units. A missing trial is completed both ways, so that what is decided holds whatever the
// missing trials were.
package compare
