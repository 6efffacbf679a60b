package clean

// removeHidden removes hidden markup until none is left. If fenced, blocks between
// fences at the margin keep all but comments and addresses.
func removeHidden(text string, r *recorder, fenced bool) string {
	for range maxRounds {
		before := text
		text = cleanComments(text, r)
		text = cleanURLs(text, r)
		if !fenced {
			text = Unseen(cleanFences(text, r), r.hidden)
		}
		text = cleanMarkup(text, r, fenced)
		if text == before {
			break
		}
	}
	return text
}

// maxRounds is how often markup is cleaned, because what was taken out may
// have kept something else from being seen as markup. One round does for all
// but texts made to need more.
const maxRounds = 4
