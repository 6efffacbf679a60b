// Package github is the door to GitHub, and to forges that speak its API: it
// reads what people wrote there, and answers them. It hides addresses, tokens,
// retries, pages and rate limits. What goes wrong is an *Error, which says what
// a person can do. Titles and bodies that it sends are masked, see Options.Mask.
//
// Nothing is made twice: whatever an answer that got lost leaves open is looked
// up before it is asked for again.
//
// The token goes to the host of the API and nowhere else, and stands in no
// error.
package github
