module github.com/oloproof/oloproof

go 1.26.8
