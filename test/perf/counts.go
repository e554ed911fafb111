//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// tallied reads a tally of oloproof as counts: what they are of, joined by "|", with "" for what is not recorded.
func tallied(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var tally struct {
		Gate  string
		Cells []struct {
			// of fairness
			Label, Prediction, Bin, N json.Number
			Groups                    []any
			Probabilities             string
			// of compare
			Version, Case            string
			Trials, Recorded, Passed json.Number
		}
	}
	if err := json.Unmarshal(text, &tally); err != nil {
		return nil, err
	}
	counts := map[string]string{}
	for _, c := range tally.Cells {
		if tally.Gate == "compare" {
			counts[c.Version+"|"+c.Case] = fmt.Sprintf("%s|%s|%s", c.Trials, c.Recorded, c.Passed)
			continue
		}
		key := []string{c.Label.String(), c.Prediction.String()}
		for _, g := range c.Groups {
			switch g := g.(type) {
			case nil:
				key = append(key, "")
			case string:
				key = append(key, g)
			case map[string]any:
				key = append(key, fmt.Sprint(g["undeclared"]))
			}
		}
		n := c.N.String()
		if c.Bin != "" {
			key, n = append(key, c.Bin.String()), n+"|"+c.Probabilities
		}
		counts[strings.Join(key, "|")] = n
	}
	return counts, nil
}
