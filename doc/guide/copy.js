// A button in each block of code that copies its text. Where pages have no clipboard, it selects the text.
for (const block of document.querySelectorAll('pre')) {
	const button = document.createElement('button');
	button.textContent = 'copy';
	button.addEventListener('click', async () => {
		const code = block.querySelector('code');
		try {
			await navigator.clipboard.writeText(code.textContent);
			button.textContent = 'copied';
		} catch {
			getSelection().selectAllChildren(code);
			button.textContent = 'selected';
		}
		setTimeout(() => { button.textContent = 'copy'; }, 2000);
	});
	block.prepend(button);
}
