package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// AttachmentError says why something that GitHub keeps on another host was not read.
type AttachmentError struct {
	Status int   // of an answer that is none; 3xx: it leads where nothing is read
	Large  bool  // it has more bytes than were asked for
	Err    error // there was no answer
}

// Error says why.
func (e *AttachmentError) Error() string {
	switch {
	case e.Large:
		return "it is too large"
	case e.Err != nil:
		return e.Err.Error()
	}
	return fmt.Sprintf("the answer is %d %s", e.Status, http.StatusText(e.Status))
}

// Unwrap gives why there was no answer.
func (e *AttachmentError) Unwrap() error { return e.Err }

// elsewhereTries is how often something on another host is asked for.
const elsewhereTries = 3

// maxTail is how much of a text on another host is read for its end, in bytes.
const maxTail = 64 << 20

// tail reads the end of a text that GitHub keeps on another host, such as the log of a job: at most so many bytes.
// Where that is, GitHub says in its answer to r; the token is not sent there.
func (c Repo) tail(ctx context.Context, r Request, most int) ([]byte, error) {
	r.leads = true
	got, err := c.Ask(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(got.Header.Get("Location"))
	if err != nil || at.Host == "" {
		return nil, c.misfit(r.What, "it does not say where the text is", nil)
	}
	data, err := c.Attachment(ctx, at, maxTail, func(*url.URL) bool { return true })
	e, ok := errors.AsType[*AttachmentError](err)
	switch {
	case err == nil, ok && e.Large:
		return data[max(len(data)-most, 0):], nil
	case e == nil:
		return nil, err
	case e.Err == nil:
		return nil, c.problem(r.What, NotFound, hides, tryLater, nil)
	}
	return nil, c.broken(&call{Request: r}, e.Err)
}

// Attachment reads what somebody has attached to a text, at most so many bytes. It is asked for without the token,
// and only at addresses that are allowed and encrypted as the API is, also where one leads to another. Errors are an
// *AttachmentError, with the bytes that were asked for if there are more, or why ctx was cancelled.
func (c *Client) Attachment(ctx context.Context, at *url.URL, most int, allowed func(*url.URL) bool) (data []byte, err error) {
	open := func(u *url.URL) bool {
		return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && c.base.Scheme == "http") && allowed(u)
	}
	if !open(at) {
		return nil, &AttachmentError{Err: errors.New("the address is not allowed")}
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, &AttachmentError{Err: err}
	}
	plain := &http.Client{Transport: c.http.Transport, Timeout: c.http.Timeout, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 || !open(req.URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	reader := &retryablehttp.Client{
		HTTPClient: plain, RetryMax: elsewhereTries - 1, CheckRetry: retryablehttp.DefaultRetryPolicy, Backoff: func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 },
		PrepareRetry: func(req *http.Request) error { return c.o.Sleep(req.Context(), firstPause) },
		ErrorHandler: func(resp *http.Response, err error, _ int) (*http.Response, error) { return resp, err },
	}
	resp, err := reader.Do(req)
	if err == nil {
		defer resp.Body.Close() // read, or given up
		data, err = io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // there may be a key in the address
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &AttachmentError{Err: err}
	case resp.StatusCode != http.StatusOK:
		return nil, &AttachmentError{Status: resp.StatusCode}
	case len(data) > most:
		return data[:most], &AttachmentError{Large: true}
	}
	return data, nil
}
