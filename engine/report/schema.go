package report

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The references of a schema: to a definition of the schema of reports from the files beside it or in another folder, and to one of its own.
const (
	toReport = `"(?:\.\./report/)?report\.schema\.json#/\$defs/([a-z0-9_]+)"`
	toOwn    = `"#/\$defs/([a-z0-9_]+)"`
)

// reportPrefix begins the names that the definitions of the schema of reports have in another schema.
const reportPrefix = "report_"

// SelfContained returns a published JSON Schema with all that it takes from the schema of reports among its own definitions, where
// each is called report_ and its name there; so it is whole without a network and without a second file. A schema that takes nothing
// is returned as it is. The error says that a definition is not there, which a test of every schema excludes.
func SelfContained(schema []byte) ([]byte, error) {
	refers, own := regexp.MustCompile(toReport), regexp.MustCompile(toOwn)
	var reports struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(JSONSchema, &reports); err != nil {
		return nil, err
	}
	taken := map[string]string{} // by name: the definition's text
	var take func(text string, refers *regexp.Regexp)
	take = func(text string, refers *regexp.Regexp) {
		for _, found := range refers.FindAllStringSubmatch(text, -1) {
			if name := found[1]; taken[name] == "" {
				definition := string(reports.Defs[name])
				taken[name] = own.ReplaceAllString(definition, `"#/$$defs/`+reportPrefix+`$1"`)
				take(definition, own)
			}
		}
	}
	take(string(schema), refers)
	if len(taken) == 0 {
		return schema, nil
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		lines = append(lines, `    "`+reportPrefix+name+`": `+taken[name])
	}
	text := refers.ReplaceAllString(string(schema), `"#/$$defs/`+reportPrefix+`$1"`)
	const opens = `"$defs": {` + "\n"
	if before, after, found := strings.Cut(text, opens); found {
		text = before + opens + strings.Join(lines, ",\n") + ",\n" + after
	} else {
		text = strings.TrimSuffix(strings.TrimSpace(text), "\n}") + ",\n  " + opens + strings.Join(lines, ",\n") + "\n  }\n}\n"
	}
	if err := json.Unmarshal([]byte(text), new(any)); err != nil {
		return nil, err
	}
	return []byte(text), nil
}
