"""FigureSpec to pictures: plotly and canvas for the screen, PNG for thumbnails."""
