package github

// hide masks the texts of what is about to be sent: titles and bodies. It is
// the one way out for all of them, so that none is forgotten.
func (c *Client) hide(body any) any {
	if c.mask == nil {
		return body
	}
	switch fields := body.(type) {
	case map[string]string:
		for _, name := range []string{"title", "body"} {
			if text, ok := fields[name]; ok {
				fields[name] = cut(c.mask(text)) // what stands in its place may be longer
			}
		}
	case map[string]any:
		for _, name := range []string{"title", "body"} {
			if text, ok := fields[name].(string); ok {
				fields[name] = cut(c.mask(text))
			}
		}
	}
	return body
}
