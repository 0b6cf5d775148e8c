# Attention Atlas for a group: docs/deployment.md. CPU by default; for a GPU build with
#   --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu130
FROM python:3.11-slim-bookworm

ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /atlas

# Letters for figures in Chinese.
RUN apt-get update && apt-get install -y --no-install-recommends fonts-wqy-microhei \
    && rm -rf /var/lib/apt/lists/*

# Libraries first: they change less often than the code, and stay in the cache.
COPY requirements.txt constraints.txt ./
RUN pip install --no-cache-dir --index-url "$TORCH_INDEX" --constraint constraints.txt torch \
    && pip install --no-cache-dir --constraint constraints.txt -r requirements.txt

COPY . .
# Nobody special runs it, and it writes to one folder alone.
RUN useradd --system --home-dir /atlas atlas && mkdir /store && chown atlas /store
USER atlas
ENV ATLAS_STORE=/store ATLAS_LOG=json PYTHONUNBUFFERED=1
VOLUME /store
EXPOSE 8501

HEALTHCHECK --start-period=60s CMD python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/health')"
# The container's own address is open, and whoever publishes the port says to whom.
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.headless", "true"]
