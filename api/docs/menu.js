// On a narrow screen the list of operations lies over the page: the button shows it, choosing an operation hides it again.
const button = document.getElementById('menu');
const reader = document.querySelector('rapi-doc');

const show = (shown) => {
  document.body.classList.toggle('menu-open', shown);
  button.setAttribute('aria-expanded', String(shown));
};

button.addEventListener('click', () => show(!document.body.classList.contains('menu-open')));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') show(false);
});
// The reader's own handlers keep these events to themselves: this one comes before them.
const chosen = (node) => node.dataset?.action === 'navigate' && node.dataset.contentId;
for (const kind of ['click', 'keyup']) {
  reader.addEventListener(
    kind,
    (event) => {
      if ((kind === 'click' || event.key === 'Enter') && event.composedPath().some(chosen)) show(false);
    },
    { capture: true },
  );
}
