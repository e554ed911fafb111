package ci

import (
	"strings"
	"testing"
)

// TestPrefix: paths were wrong in subfolders for years (golangci/golangci-lint-action#31 and #1228, astral-sh/ruff#1835).
func TestPrefix(t *testing.T) {
	for _, test := range []struct{ prefix, file, want string }{
		{"", "policy.yaml", "policy.yaml"},
		{"sub/", "policy.yaml", "sub/policy.yaml"},
		{"sub", "policy.yaml", "sub/policy.yaml"},
		{"+sub/", "a/policy.yaml", "sub/a/policy.yaml"},
		{"./sub//x/", "policy.yaml", "sub/x/policy.yaml"},
		{"-sub/", "sub/policy.yaml", "policy.yaml"},
		{"-sub", "sub/sub/policy.yaml", "sub/policy.yaml"},
		{"-sub/", "subway/policy.yaml", "subway/policy.yaml"},
		{"-sub/", "policy.yaml", "policy.yaml"},
		{"./", "policy.yaml", "policy.yaml"},
		{"-./", "policy.yaml", "policy.yaml"},
		{"--x/", "-x/policy.yaml", "policy.yaml"},
		{"..x/", "policy.yaml", "..x/policy.yaml"},
		{"sub/", "", ""}, // no file is none of a folder
	} {
		p, err := ParsePrefix(test.prefix)
		if got := p.Apply(test.file); got != test.want || err != nil {
			t.Errorf("%q on %q: %q, %v; want %q", test.prefix, test.file, got, err, test.want)
		}
	}
	for prefix, want := range map[string]string{
		"+": "not a prefix", "-": "not a prefix", "/sub/": "not a prefix", "-/sub/": "not a prefix", "a\nb/": "not a prefix", "a\u202eb/": "not a prefix",
		"../": "leads out of the repository", "-..": "leads out of the repository", "a/../../b": "leads out of the repository",
	} {
		if p, err := ParsePrefix(prefix); err == nil || !strings.Contains(err.Error(), want) || p != (Prefix{}) {
			t.Errorf("%q: %v, %v; want %q", prefix, p, err, want)
		}
	}
}
