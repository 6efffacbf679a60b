package gate

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	maxError = 64 << 10 // bytes of an error that are looked at; services write a few hundred
	minKey   = 8        // bytes; what is shorter stands in many texts
)

// mask takes the real key, which a header shows, out of an error: some gateways repeat the one that they were
// shown.
func mask(res *http.Response, shown http.Header) {
	body := res.Body
	var from io.Reader = body
	if res.Header.Get("Content-Encoding") == "gzip" {
		from = strings.NewReader("")
		if z, err := gzip.NewReader(body); err == nil {
			from = z
		}
		res.Header.Del("Content-Encoding")
	}
	text, _ := io.ReadAll(io.LimitReader(from, maxError)) // what broke off is shown as far as it came
	for _, values := range shown {
		for _, value := range values {
			if key := strings.TrimPrefix(value, "Bearer "); len(key) >= minKey {
				text = bytes.ReplaceAll(text, []byte(key), []byte("[the key]"))
			}
		}
	}
	res.ContentLength = int64(len(text))
	res.Header.Set("Content-Length", strconv.Itoa(len(text)))
	res.TransferEncoding = nil
	res.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(text), body}
}

// leads reports whether a header shows a key, or has a gateway send the request, and
// the real key with it, elsewhere.
func leads(name string) bool {
	switch name {
	case "Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie",
		"X-Http-Method-Override", "X-Http-Method", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url", "X-Original-Host", "X-Host", "X-Goog-User-Project":
		return true
	}
	return slices.ContainsFunc([]string{"Helicone-", "X-Portkey-", "Cf-", "X-Litellm-", "X-Forwarded-"}, func(kind string) bool { return strings.HasPrefix(name, kind) })
}
