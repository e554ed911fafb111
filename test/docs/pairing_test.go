package docs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oloproof/oloproof/engine/interval"
)

// pairing compares the interval for people alone with the one for people and cases on the same simulated studies, whose
// mean gain over all people and all cases is 0.1. Seeded.
func pairing(t *testing.T) [][]string {
	const studies, truth = 40, 0.1
	rows := [][]string{{"people × cases", "sd over cases", "width, people alone", "width, people and cases", "misses, people alone", "misses, people and cases"}}
	for i, d := range []struct {
		people, cases int
		spread        float64
	}{{20, 30, 0.1}, {40, 40, 0.1}, {40, 100, 0.1}, {200, 30, 0.1}, {200, 10, 0.25}, {50, 6, 0.25}} {
		r := rand.New(rand.NewPCG(uint64(i), 2026))
		var alone, both []float64
		missAlone, missBoth := 0, 0
		for range studies {
			cells := gainCells(r, d.people, d.cases, truth, d.spread)
			means := make([]float64, d.people)
			for p := range cells {
				for _, x := range cells[p] {
					means[p] += x
				}
				means[p] /= float64(d.cases)
			}
			a := mean(t, interval.UniformMixture, means, interval.Difference)
			b, err := interval.PairingAverage(cells, cells, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			alone, both = append(alone, a.Upper-a.Lower), append(both, b.Upper-b.Lower)
			if a.Lower > truth || a.Upper < truth {
				missAlone++
			}
			if b.Lower > truth || b.Upper < truth {
				missBoth++
			}
		}
		middle := func(list []float64) string { slices.Sort(list); return fmt.Sprintf("%.2f", list[len(list)/2]) }
		rows = append(rows, []string{fmt.Sprintf("%d × %d", d.people, d.cases), fmt.Sprintf("%.2f", d.spread), middle(alone), middle(both),
			fmt.Sprintf("%d of %d", missAlone, studies), fmt.Sprintf("%d of %d", missBoth, studies)})
	}
	return rows
}

// gainCells draws right with minus right without of each person on each case. Without the output everybody is right with
// probability .5 on every case; with it the probability is higher by truth and an effect of the person and one of the case,
// each plus or minus its standard deviation, .1 for people.
func gainCells(r *rand.Rand, people, cases int, truth, spread float64) [][]float64 {
	effects := func(n int, size float64) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = size
			if r.Float64() < 0.5 {
				list[i] = -size
			}
		}
		return list
	}
	person, item := effects(people, 0.1), effects(cases, spread)
	cells := make([][]float64, people)
	for p := range cells {
		cells[p] = make([]float64, cases)
		for c := range cells[p] {
			if r.Float64() < 0.5+truth+person[p]+item[c] {
				cells[p][c]++
			}
			if r.Float64() < 0.5 {
				cells[p][c]--
			}
		}
	}
	return cells
}
