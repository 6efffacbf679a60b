package issue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// The most that is fetched and noted of an issue.
const (
	most    = 10              // images that are fetched
	noted   = 30              // images of which the record says why they were not, too
	allTime = 2 * time.Minute // for all together
)

// Place is where an issue is that may have images.
type ImagePlace struct {
	GitHub      *github.Client
	Owner, Name string
	Number      int
}

// Fetch gives the images that people see in an issue and in what was said below it, or why there
// are none. It takes at most ten, from where GitHub keeps what people have
// attached. An error is why ctx was cancelled.
func (p ImagePlace) Fetch(ctx context.Context, is Issue) ([]metadata.Image, error) {
	is.Clean() // a copy: what people do not see has no images
	all, _, err := p.fetch(ctx, sources(is), func(string) bool { return true })
	return all, err
}

// fetch fetches those images of texts that are wanted, with their bytes by the addresses.
func (p ImagePlace) fetch(ctx context.Context, texts []source, wanted func(address string) bool) (all []metadata.Image, bytes map[string][]byte, err error) {
	within, cancel := context.WithTimeout(ctx, allTime)
	defer cancel()
	h := hosts{p.GitHub.Web()}
	fetched, bytes := 0, map[string][]byte{}
	for _, text := range texts {
		var markup *string // how people are shown the text, once that was asked for
		for _, address := range text.images {
			at, err := url.Parse(address)
			image := metadata.Image{URL: address}
			switch {
			case len(all) >= noted:
				return all, bytes, nil
			case !wanted(address):
				continue
			case err != nil || !h.attached(at):
				image.Why = metadata.Because("image_host", "host", hostOf(at))
			case fetched >= most:
				image.Why = metadata.Because("image_number", "most", most)
			default:
				fetched++
				if markup == nil && mark.MatchString(address) {
					shown := p.shown(within, text.comment)
					markup = &shown
				}
				if markup != nil {
					if signed := h.signed(*markup, address); signed != nil {
						at = signed
					}
				}
				data, err := p.GitHub.Attachment(within, at, mostBytes, h.own)
				if ctx.Err() != nil {
					return nil, nil, context.Cause(ctx)
				}
				kind, why := kindOf(data)
				if err != nil {
					why = reasonOf(err)
				}
				if image.Why = why; why == "" {
					image.Digest, image.Type, image.Size, bytes[address] = digest(data), kind, len(data), data
				}
			}
			all = append(all, image)
		}
	}
	return all, bytes, nil
}

// shown gives how people are shown a text. If that cannot be had, the images are asked
// for where the text itself has them.
func (p ImagePlace) shown(ctx context.Context, comment int64) string {
	markup, err := p.GitHub.Thread(p.Owner, p.Name, p.Number).Shown(ctx, comment)
	if err != nil {
		return ""
	}
	return markup
}

// reasonOf says why an image was not fetched.
func reasonOf(err error) metadata.Reason {
	var e *github.AttachmentError
	switch {
	case !errors.As(err, &e) || e.Err != nil:
		return metadata.Because("image_unreachable")
	case e.Large:
		return metadata.Because("image_size", "most", mostBytes>>20)
	case e.Status/100 == 3:
		return metadata.Because("image_elsewhere")
	}
	return metadata.Because("image_gone", "status", e.Status)
}

func hostOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Host
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
