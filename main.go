// Command oloproof is a statistical release gate for AI systems.
package main

import (
	_ "embed"
	"os"

	"github.com/oloproof/oloproof/internal/cli"
)

// version is set by the release build (-ldflags "-X main.version=v1.2.3").
var version string

// The licences have to go with every copy of the program, and it is one file.
var (
	//go:embed LICENSE
	licence string
	//go:embed THIRD_PARTY_LICENSES
	others string
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.World{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: version, Licences: licence + "\n" + others,
	}))
}
