// Finds sections of the site that have all words that somebody types. The index, search.json,
// is loaded once the field is used; without scripts there is no field.
const form = document.querySelector('form.search');
const field = form.querySelector('input'), list = form.querySelector('ul');
let loading;
const load = () => (loading ??= fetch(new URL('search.json', import.meta.url)).then((answer) => answer.json()));

form.hidden = false;
field.addEventListener('focus', load);
field.addEventListener('input', async () => {
  const typed = field.value, sections = await load();
  if (typed === field.value) show(find(sections, typed), typed); // nothing was typed meanwhile
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.click();
});
addEventListener('keydown', ({ key, target }) => {
  if (key === 'Escape' && form.contains(target)) {
    field.value = '';
    list.replaceChildren();
  }
});

// find gives the best sections: words in a heading or a title count more than words in the text.
function find(sections, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const points = ({ page, heading, text }) => words.reduce((sum, word) => {
    const found = [heading, page, text].map((where) => where.toLowerCase().includes(word));
    return found.includes(true) ? sum + 4 * found[0] + 2 * found[1] + found[2] : -Infinity;
  }, 0);
  const found = sections.map((section) => ({ ...section, points: points(section) })).filter((section) => section.points > 0);
  return found.sort((a, b) => b.points - a.points).slice(0, 12);
}

function show(found, typed) {
  list.replaceChildren(...found.map((section) => {
    const link = element('a', section.heading === section.page ? section.page : `${section.page} › ${section.heading}`);
    link.href = new URL(section.address, import.meta.url);
    const at = section.text.toLowerCase().indexOf(typed.toLowerCase().split(/\s+/).find(Boolean));
    const from = at < 40 ? 0 : section.text.lastIndexOf(' ', at - 20) + 1; // begins with a whole word
    const item = element('li', '');
    item.append(link, element('small', `${from ? '… ' : ''}${section.text.slice(from, from + 140)}`));
    return item;
  }));
  if (!found.length && typed.trim()) list.append(element('li', form.dataset.nothing));
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
