package params

import (
	"fmt"
	"strings"
)

// ParseRobots parses the Clean-param directives of the robots.txt of a host:
// https://yandex.com/support/webmaster/robot-workings/clean-param.html. The
// directives name parameters that do not change a page, for paths that start
// with a prefix. The List is called "robots"; its version is derived from the
// content. The directives of all groups of user agents count. List.Skipped
// lists the directives that are invalid.
func ParseRobots(host string, data []byte) *List {
	f := newForeign("robots", data)
	line := 0
	for text := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		line++
		text, _, _ = strings.Cut(text, "#")
		key, value, ok := strings.Cut(text, ":")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), "clean-param") {
			continue
		}
		r := ListRule{Host: "=" + host, Source: fmt.Sprintf("robots:%d", line)}
		words := strings.Fields(value)
		if len(words) == 0 || len(words) > 2 {
			f.skip(r.Source, "must be names, separated by '&', and a path: "+strings.TrimSpace(text))
			continue
		}
		if len(words) == 2 {
			r.Path = globPath("/" + strings.TrimPrefix(words[1], "/") + "*")
		}
		for name := range strings.SplitSeq(words[0], "&") {
			if name != "" {
				f.add(r, name)
			}
		}
	}
	return f.List
}
