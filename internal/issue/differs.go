package issue

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// Differs says in a few words what of an issue reads otherwise now, or "".
func (i Issue) Differs(now Issue) metadata.Reason {
	old, new := strings.Split(i.Body, "\n"), strings.Split(now.Body, "\n")
	var all []metadata.Reason
	if i.Title != now.Title {
		all = append(all, metadata.Because("title_changed", "new", now.Title, "old", i.Title))
	}
	if i.Body != now.Body {
		all = append(all, metadata.Because("text_changed", "new", missing(new, old), "gone", missing(old, new)))
	}
	if came, gone := i.Discussion.changed(now.Discussion), now.Discussion.changed(i.Discussion); came+gone > 0 {
		all = append(all, metadata.Because("discussion_changed", "new", came, "gone", gone))
	}
	if old, new := i.Record().Images, now.Record().Images; !slices.Equal(old, new) {
		all = append(all, metadata.Because("images_changed", "n", len(new), "fetched", fetched(new)))
	}
	return metadata.All(all...)
}

// fetched counts the images that were fetched.
func fetched(all []metadata.Image) (n int) {
	for _, image := range all {
		if image.Digest != "" {
			n++
		}
	}
	return n
}

// missing counts the lines of a text that another has not.
func missing(of, in []string) int {
	has := map[string]int{}
	for _, line := range in {
		has[line]++
	}
	n := 0
	for _, line := range of {
		if has[line]--; has[line] < 0 {
			n++
		}
	}
	return n
}
