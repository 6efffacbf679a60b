package secrets

// needles are strings that are looked for all at once, in time that grows with the text alone.
type needles struct {
	words []string
	heads []bool           // by the first two bytes: some word begins so
	begin map[uint16][]int // the words that do
	fold  [256]byte        // what a byte counts as
}

// newNeedles prepares to look for words of two bytes or more, with fold
// whether letters are large or small. The words are in small letters then.
func newNeedles(words []string, fold bool) *needles {
	n := &needles{words: words, heads: make([]bool, 1<<16), begin: map[uint16][]int{}}
	for i := range n.fold {
		n.fold[i] = byte(i)
		if fold && 'A' <= i && i <= 'Z' {
			n.fold[i] = byte(i) + 'a' - 'A'
		}
	}
	for i, w := range words {
		if len(w) < 2 {
			continue // unreachable: no value and no rule is that short
		}
		h := uint16(w[0])<<8 | uint16(w[1])
		n.heads[h] = true
		n.begin[h] = append(n.begin[h], i)
	}
	return n
}

// each calls found for every place where a word stands, in the order of places.
func (n *needles) each(text []byte, found func(at, word int)) {
	if len(n.words) == 0 || len(text) < 2 {
		return
	}
	h := uint16(n.fold[text[0]])
	for i, c := range text[1:] {
		h = h<<8 | uint16(n.fold[c])
		if !n.heads[h] {
			continue
		}
		for _, w := range n.begin[h] {
			if n.stands(text[i:], n.words[w]) {
				found(i, w)
			}
		}
	}
}

func (n *needles) stands(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := 2; i < len(word); i++ {
		if n.fold[text[i]] != word[i] {
			return false
		}
	}
	return true
}
