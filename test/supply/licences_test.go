// Package supply holds the tests of what the program is made from and how it is built.
package supply

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite THIRD_PARTY_LICENSES")

const root = "../.."

// platforms are those of .ci/release. A module may be linked on one of them only.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// linked is a module of which the program has packages, and the folders of these packages.
type linked struct {
	path, version, folder string
	packages              []string
}

// TestLicences makes THIRD_PARTY_LICENSES again from the modules that the program is linked from, on all platforms. Their
// licences, and what Apache's calls notices, have to go with every copy: the program prints them.
func TestLicences(t *testing.T) {
	var b strings.Builder
	b.WriteString("Oloproof is under the Apache License 2.0. The program also has in it the Go runtime and standard library, and packages\n" +
		"of the modules below, under these licences. The list is for all platforms; on some a module is not linked.\n\n")
	modules := modules(t)
	texts := map[string]string{}
	for _, m := range modules {
		id, text := licence(t, m)
		texts[m.path] = text
		b.WriteString(m.path + " " + m.version + "  " + id + "\n")
	}
	for _, m := range modules {
		b.WriteString("\n" + strings.Repeat("=", 80) + "\n" + m.path + " " + m.version + "\n" + strings.Repeat("=", 80) + "\n" + texts[m.path])
	}
	name := filepath.Join(root, "THIRD_PARTY_LICENSES")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), b.String()); diff != "" {
		t.Errorf("THIRD_PARTY_LICENSES is not what is linked; go test ./test/supply -update rewrites it (-kept +linked):\n%s", diff)
	}
}

// modules lists what is linked, by path, with Go's own library first.
func modules(t *testing.T) []linked {
	t.Helper()
	all := map[string]*linked{}
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		command := exec.Command("go", "list", "-deps", "-json=Dir,Module,ImportPath", ".")
		command.Dir = root
		command.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %v", command, err)
		}
		decoder := json.NewDecoder(strings.NewReader(string(out)))
		for {
			var p struct {
				Dir    string
				Module *struct{ Path, Version, Dir string }
			}
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if p.Module == nil || p.Module.Version == "" { // the standard library, and the program itself
				continue
			}
			m := all[p.Module.Path]
			if m == nil {
				m = &linked{path: p.Module.Path, version: p.Module.Version, folder: p.Module.Dir}
				all[p.Module.Path] = m
			}
			if !slices.Contains(m.packages, p.Dir) {
				m.packages = append(m.packages, p.Dir)
			}
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []linked
	for _, m := range all {
		slices.Sort(m.packages)
		list = append(list, *m)
	}
	if len(list) < 10 {
		t.Fatalf("only %d modules are linked", len(list))
	}
	slices.SortFunc(list, func(a, b linked) int { return strings.Compare(a.path, b.path) })
	return append([]linked{{path: "Go", version: "runtime and standard library", folder: strings.TrimSpace(string(goroot))}}, list...)
}

// legal are the files whose text has to go along: licences, notices, grants of patents and the authors that a notice of
// copyright speaks of.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors)(\.(txt|md))?$`)

// licence returns a module's licences by their SPDX ids, and the texts of all legal files in the folders of the packages
// that are linked and those above them.
func licence(t *testing.T, m linked) (id, text string) {
	t.Helper()
	folders := []string{m.folder}
	for _, p := range m.packages {
		for ; len(p) > len(m.folder); p = filepath.Dir(p) {
			folders = append(folders, p)
		}
	}
	slices.Sort(folders)
	var ids []string
	for _, folder := range slices.Compact(folders) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.IsDir() || !legal.MatchString(entry.Name()) {
				continue
			}
			content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			relative, err := filepath.Rel(m.folder, filepath.Join(folder, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			clean := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
			text += "\n--- " + filepath.ToSlash(relative) + "\n\n" + clean + "\n"
			ids = append(ids, spdx(clean)...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		t.Errorf("%s %s has no licence that is known here: it cannot be shipped before a person has read it", m.path, m.version)
	}
	return strings.Join(ids, " AND "), text
}

// marks are sentences by which a licence is known. Only licences under which the program may be shipped as it is are in it.
var marks = []struct{ id, sentence string }{
	{"Apache-2.0", "Apache License Version 2.0, January 2004"},
	{"Apache-2.0", `Licensed under the Apache License, Version 2.0 (the "License")`},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms, with or without modification, are permitted"},
}

// spdx returns the licences whose marks a text has.
func spdx(text string) (ids []string) {
	words := strings.Join(strings.Fields(text), " ")
	for _, m := range marks {
		if !strings.Contains(words, m.sentence) {
			continue
		}
		id := m.id
		if id == "BSD-2-Clause" && regexp.MustCompile(`Neither the names? of `).MatchString(words) {
			id = "BSD-3-Clause"
		}
		ids = append(ids, id)
	}
	return ids
}

// TestProgramPrintsLicences builds the program and asks it: whoever has only the binary has the licences.
func TestProgramPrintsLicences(t *testing.T) {
	program := filepath.Join(t.TempDir(), "oloproof.exe")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed, err := exec.Command(program, "version", "--licences").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LICENSE", "THIRD_PARTY_LICENSES"} {
		text, err := os.ReadFile(path.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(printed), strings.TrimSpace(string(text))) {
			t.Errorf("version --licences does not print %s", name)
		}
	}
	// What is linked into this very program is on the list.
	info, err := exec.Command("go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)`).FindAllSubmatch(info, -1)
	if len(modules) < 10 {
		t.Errorf("the program tells only %d modules", len(modules))
	}
	for _, m := range modules {
		if line := string(m[1]) + " " + string(m[2]) + "  "; !strings.Contains(string(printed), "\n"+line) {
			t.Errorf("version --licences does not name %s", line)
		}
	}
}
