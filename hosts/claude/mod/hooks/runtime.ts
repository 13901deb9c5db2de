/** The Python that has hindnote installed; `hindnote install claude` writes its absolute path here. */
export const PYTHON = 'python3'
