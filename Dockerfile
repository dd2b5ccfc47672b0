# One image for every stage; what a container runs is its command (`run segment`, `run sink`, `web`, …).
FROM python:3.11-slim

WORKDIR /app
COPY requirements/runtime.lock requirements/runtime.lock
RUN pip install --no-cache-dir --require-hashes -r requirements/runtime.lock
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation . && useradd --create-home hermes
USER hermes
WORKDIR /home/hermes
ENTRYPOINT ["hermes-streams"]
