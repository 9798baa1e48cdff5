pub mod decode; pub mod scripts;
