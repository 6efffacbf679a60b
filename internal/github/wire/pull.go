package wire

// Pull is a pull request as it was when it was asked for.
type Pull struct {
	Number         int
	URL            string // for people
	NodeID         string // of the GraphQL API
	Title          string
	Body           string // Markdown
	Head           string // the branch with the change
	Commit         string // that it is at
	Base           string // the branch that is to get it
	State          string // "open" or "closed"
	Merged         bool   // where one was asked for alone
	Draft          bool
	HeadRepository string // owner/name where Head is; empty if that is gone
}

// PullForm is what is read of a pull request.
type PullForm struct {
	Number int     `json:"number"`
	URL    string  `json:"html_url"`
	NodeID string  `json:"node_id"`
	Title  string  `json:"title"`
	Body   string  `json:"body"`
	State  string  `json:"state"`
	Draft  bool    `json:"draft"`
	Merged bool    `json:"merged"`
	Head   wireRef `json:"head"`
	Base   wireRef `json:"base"`
}

type wireRef struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

// Pull gives the pull request, with an address that is safe to keep.
func (w PullForm) Pull() Pull {
	p := Pull{
		Number: w.Number, URL: SafeURL(w.URL), NodeID: w.NodeID, Title: w.Title, Body: w.Body,
		Head: w.Head.Ref, Commit: w.Head.SHA, Base: w.Base.Ref, State: w.State, Draft: w.Draft, Merged: w.Merged,
	}
	if w.Head.Repo != nil {
		p.HeadRepository = w.Head.Repo.FullName
	}
	return p
}
