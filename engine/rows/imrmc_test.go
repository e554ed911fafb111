package rows

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
)

// readerStudy is written by hand from the format's description: free text, counts, the truth rows, scores, with the
// spaces, the two names of the truth and the empty columns that the program's own example files have.
const readerStudy = "A study of two readers\nAUC1: 0.757\n\nNR: 2,,,\nN0: 1,,,\nN1: 2\nNM: 2\n\nBEGIN DATA:,,,\n" +
	"-1,case1,any word,0\r\ntruth,case2,truth,1\n-1 , 3 ,0, 1.0,,\n\n" +
	" r1 ,case1,unaided,0.25\nr1,case2,unaided,-3\nr1,3,aided,0.00E+00\nr2,case1,aided,.5\n"

func TestReadIMRMC(t *testing.T) {
	diags := &diag.List{}
	s := ReadIMRMC("s.imrmc", []byte(readerStudy), diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range s.Readings {
		got = append(got, r.Reader+"|"+r.Case+"|"+r.Modality+"|"+r.Score.String()+"|"+r.Pos.String())
	}
	if diff := cmp.Diff([]string{
		"r1|case1|unaided|0.25|s.imrmc:14:20", "r1|case2|unaided|-3|s.imrmc:15:18", "r1|3|aided|0|s.imrmc:16:12", "r2|case1|aided|0.5|s.imrmc:17:16",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"case1": false, "case2": true, "3": true}, s.Truth); diff != "" {
		t.Errorf("truths (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"aided", "unaided"}, s.Modalities()); diff != "" {
		t.Errorf("modalities (-want +got):\n%s", diff)
	}
}

func TestReadIMRMCErrors(t *testing.T) {
	const begin = "BEGIN DATA:\n-1,1,0,0\n"
	for text, want := range map[string]string{
		"":                                   `s.imrmc: no line "BEGIN DATA:"`,
		"Begin data:\nr,1,m,1\n":             `s.imrmc:1: found "Begin data:"; the line before the data is "BEGIN DATA:"`,
		"BEGIN DATA\n":                       `s.imrmc:1: found "BEGIN DATA"`,
		begin:                                `s.imrmc: no score of any reader`,
		begin + "r;1;m;1\n":                  `s.imrmc:3: the row has 1 fields; a row is readerID,caseID,modalityID,score`,
		begin + "r,1,m,1,2\n":                `s.imrmc:3: the row has 5 fields`,
		begin + "r,,m,1\n":                   `s.imrmc:3:3: caseID is empty; every row needs one`,
		begin + "r,1,m,\n":                   `s.imrmc:3:7: score is empty`,
		begin + "r,1,m,NaN\n":                `s.imrmc:3:7: score: found "NaN"`,
		begin + "r,2,m,1\n":                  `s.imrmc:3: the truth of case "2" is told nowhere`,
		begin + "truth,1,truth,1\nr,1,m,1\n": `s.imrmc:3: the truth of case "1" is told a second time; the first is at s.imrmc:2`,
		begin + "-1,2,0,0.5\nr,1,m,1\n":      `s.imrmc:3:8: the truth of case "2" is "0.5"; write 0`,
		begin + "r,1,m,1\nr,1,m,0\n":         `s.imrmc:4: a second score of the same reader for case "1" in modality "m"; the first is at s.imrmc:3`,
		"NR: two\n" + begin + "r,1,m,1\n":    `s.imrmc:1: NR is "two"; it is a whole number`,
		"NR: 2\n" + begin + "r,1,m,1\n":      `s.imrmc:1: NR says 2, and the data have 1 readers`,
		"N1: 1\n" + begin + "r,1,m,1\n":      `s.imrmc:1: N1 says 1, and the data have 0 cases whose truth is 1`,
		"NM: 2\n" + begin + "r,1,m,1\n":      `s.imrmc:1: NM says 2, and the data have 1 modalities`,
		begin + "r\xff,1,m,1\n":              `s.imrmc:3: the line is not UTF-8`,
	} {
		diags := &diag.List{}
		ReadIMRMC("s.imrmc", []byte(text), diags)
		if err := diags.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// FuzzIMRMC: no input makes it panic, and what is read without a problem has a truth for every score.
func FuzzIMRMC(f *testing.F) {
	f.Add([]byte(readerStudy))
	f.Add([]byte("BEGIN DATA:\n-1,1,0,2\n,,,\n\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		diags := &diag.List{}
		s := ReadIMRMC("s.imrmc", data, diags)
		if diags.Len() > 0 {
			return
		}
		if len(s.Readings) == 0 {
			t.Fatal("nothing was read, and nothing said")
		}
		for _, r := range s.Readings {
			if _, found := s.Truth[r.Case]; !found || r.Reader == "" || r.Modality == "" {
				t.Fatalf("%+v", r)
			}
		}
	})
}
