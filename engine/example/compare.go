package example

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
)

// The eight cases of the lesson on comparing two versions of an agent: five recorded trials of each case, 1 for passed and
// 0 for failed. They were recorded, not drawn, so that every number of the lesson can be seen again: 60 % against
// 73 %, five cases better and none worse, p = 0.0625, uncertain.
var (
	oldTrials = [...]string{"11111", "11101", "10100", "11011", "00000", "01101", "11111", "00010"}
	newTrials = [...]string{"11111", "11111", "10101", "11110", "00100", "11011", "11111", "01010"}
)

// Compare returns the trials of the compare example as CSV: version, case, trial, passed. It has no error of its own, only
// the writer's.
func Compare() ([]byte, error) {
	rows := [][]string{{"version", "case", "trial", "passed"}}
	for _, v := range []struct {
		name  string
		cases []string
	}{{"old", oldTrials[:]}, {"new", newTrials[:]}} {
		for i, trials := range v.cases {
			for j, result := range trials {
				rows = append(rows, []string{v.name, fmt.Sprintf("case-%d", i+1), strconv.Itoa(j + 1), string(result)})
			}
		}
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
