package ci

import (
	"errors"
	"path"
	"strings"
)

// Prefix turns paths of the workspace into those of the repository, where it is not checked out at the workspace's top.
// The zero Prefix leaves them as they are.
type Prefix struct {
	text string
	take bool // take it from a path that has it, in place of putting it before
}

// ParsePrefix reads "sub/" or "+sub/", which is put before a path, or "-sub/", which is taken from it.
func ParsePrefix(text string) (Prefix, error) {
	var p Prefix
	rest := text
	switch {
	case strings.HasPrefix(text, "-"):
		p.take, rest = true, text[1:]
	case strings.HasPrefix(text, "+"):
		rest = text[1:]
	}
	if rest == "" && text != "" || path.IsAbs(rest) || strings.ContainsFunc(rest, hidden) {
		return Prefix{}, errors.New("it is not a prefix; write sub/ or +sub/ to put it before paths, -sub/ to take it from them")
	}
	if rest != "" {
		if rest = path.Clean(rest); rest == ".." || strings.HasPrefix(rest, "../") {
			return Prefix{}, errors.New("it leads out of the repository; write sub/ or +sub/ to put it before paths, -sub/ to take it from them")
		}
		if rest != "." {
			p.text = rest + "/"
		}
	}
	return p, nil
}

// Takes is what the prefix takes from paths, "" for nothing.
func (p Prefix) Takes() string {
	if p.take {
		return p.text
	}
	return ""
}

// Apply returns a path of the workspace as one of the repository.
func (p Prefix) Apply(file string) string {
	switch {
	case p.text == "" || file == "":
		return file
	case p.take:
		return strings.TrimPrefix(file, p.text)
	}
	return p.text + file
}
