package issue

import (
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// HeardImages says what of the discussion below an issue, and of the images of both, agents are
// given; "" if there is none of either.
func HeardImages(words prompts.Catalogue, is Issue) string {
	var all []string
	switch d, who := is.Discussion, strings.Join(is.Discussion.By(), ", "); {
	case len(d.Comments) == 0:
	case d.Older > 0:
		all = append(all, words.Shown("heard in part", "n", len(d.Comments), "who", who, "older", d.Older))
	default:
		all = append(all, words.Shown("heard", "n", len(d.Comments), "who", who))
	}
	given := 0
	for _, image := range is.Images {
		if image.Digest != "" {
			given++
		}
	}
	if given > 0 {
		all = append(all, words.Shown("images given", "n", given))
	}
	return strings.Join(append(all, missingImages(words, is.Record().Images)...), "; ")
}

// missingImages says why agents are not given some of the images of an issue, which counts them from 1.
func missingImages(words prompts.Catalogue, all []metadata.Image) (lines []string) {
	for i, image := range all {
		if image.Digest == "" {
			lines = append(lines, notGiven(words, i, image.Why))
		}
	}
	return lines
}

func notGiven(words prompts.Catalogue, i int, why metadata.Reason) string {
	return words.Shown("image not given", "n", i+1, "why", why.In(words))
}
